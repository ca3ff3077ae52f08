import { type Estate, SALE_TERMS_EN, words } from './estate.ts';

export const PLOTS: Estate = {
  category: 'участки',
  gender: 'm',
  weight: 6,
  rentShare: 0,
  area: [400, 2500],
  metreShare: 0,
  rentPerMonth: 0.001,
  sale: {
    ru: words(
      `
        Участок $plot, $km км от города
        Продам участок $plot
        Земельный участок $plot (ИЖС)
        Дача на участке $plot
        `,
      `
        Участок $plot, [ИЖС|СНТ|ДНП], $km км от центра, $city
        Земельный участок $plot $within, [ровный|прямоугольный|у леса]
        `,
      `
        [Электричество подключено|Столб у границы|Газ по улице], [скважина|центральный водопровод летом|колодец]
        Подъезд [асфальт|щебень, чистят зимой], [соседи построились|рядом озеро|лес в пяти минутах]
        `,
      `
        Документы готовы, [межевание сделано|собственность оформлена], [торг|без торга]
        Продажа от собственника, [покажу в выходные|координаты пришлю]
        `,
    ),
    en: words(
      `
        Land for sale, $plot
        `,
      `
        A plot of $plot, $km km from the centre of $city
        `,
      `
        Electricity is connected, there is a well
        Good road, a forest and a lake nearby
        `,
      SALE_TERMS_EN,
    ),
  },
  rent: { ru: words('', '', '', ''), en: words('', '', '', '') },
};
